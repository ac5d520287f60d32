"""Programs that rank skills, over the same catalogs and the same messages."""
