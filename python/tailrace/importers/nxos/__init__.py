"""NX-OS: `class-map`, `policy-map`, `system qos`, `hardware qos` and what belongs to them."""
