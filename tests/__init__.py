"""The tests are a package, so that they can share their oracle and their tables: `from tests.conftest import needs`."""
