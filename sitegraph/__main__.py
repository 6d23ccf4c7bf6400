"""`python -m sitegraph`: the command `sitegraph`."""

from sitegraph.cli.app import main

main()
