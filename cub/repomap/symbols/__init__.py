"""What source files define and use."""
