"""Words for models: the templates that ship with cub, and what is rendered from them."""
