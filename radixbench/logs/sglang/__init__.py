"""SGLang's lines and our own."""
