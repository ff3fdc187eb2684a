"""Pictures and tables in pages that need no network: Altair charts with Vega put in."""
