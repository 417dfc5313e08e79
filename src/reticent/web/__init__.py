"""What pages stand on: templates, forms from dataclasses, sessions, policy headers, work in processes, texts with undo."""
