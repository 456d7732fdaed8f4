"""Loaded by a Dask worker before anything else: gives it the stand-in for the simulator, of a
chosen version."""

import os

import fake_native

module = fake_native.install()
if named := os.environ.get("FAKE_VERSION"):
    setattr(module, "version", lambda: named)  # noqa: B010  a module of the stand-in's own
