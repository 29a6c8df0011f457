"""What `sparse-rf`, `rf` and `boosting` share: inputs, features on rows, the problem over them."""
