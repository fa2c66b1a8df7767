"""What commands print, and the forms in which they write a report."""
