"""What can be asked of the index, by kind; each query goes through the views of the scope it is asked under."""
