"""Which definitions everything else depends on."""
