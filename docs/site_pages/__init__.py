"""What the site generates: the gallery and the references."""
