"""Changes of cub that break it, each on its own, and the tests of the fast tier that notice."""
