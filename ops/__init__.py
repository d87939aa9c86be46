"""What is run on the program rather than in it."""
