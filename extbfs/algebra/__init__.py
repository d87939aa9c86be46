"""Layer algebras: what a record is, how a layer expands and how arrivals become the next layer."""
