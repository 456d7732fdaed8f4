"""What one trial or one arm is measured by."""
