"""The models: one module per provider, all with the same door (`base.Backend`)."""
