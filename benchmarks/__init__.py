"""How fast and how small depthsmith is, beside the traced route; see RESULTS.md."""
