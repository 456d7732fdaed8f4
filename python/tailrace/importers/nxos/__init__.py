"""NX-OS: `class-map`, `policy-map`, `system qos`, `hardware qos` and related commands."""
