"""Other grammars for the same questions: HTTP, events, pages. They translate and decide nothing."""
