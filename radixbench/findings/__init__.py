"""What runs say against their own figures: each finding with a code, a text and a remedy."""
