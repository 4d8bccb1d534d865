"""Rules to look at: pictures and a page of its own. Needs the extra `report`."""
