"""What is protected: frozen, validated types without algorithms."""
