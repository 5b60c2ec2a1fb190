"""What a reader must know beside the figures: one module for each kind of question, one function for each note."""
