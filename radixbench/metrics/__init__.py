"""Records become figures; each figure has one definition, in ``registry``."""
