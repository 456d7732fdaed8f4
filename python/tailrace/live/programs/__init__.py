"""The real programs, one module each: a module is registered by being here. Nothing else knows a program by name."""
