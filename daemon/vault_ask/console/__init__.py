"""What a person at the terminal sees. Text goes out as it is, without markup."""
