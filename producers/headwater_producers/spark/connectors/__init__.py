"""What capture knows of each storage technology: one file or folder for each."""
