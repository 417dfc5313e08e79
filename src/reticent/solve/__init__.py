"""The linear and mixed-integer programming seam: plain arrays in, checked solutions out."""
