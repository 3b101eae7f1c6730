"""`python -m vault_ask` is `vault-ask`."""

from vault_ask.cli import main

main()
