"""A Secret Service that takes its name on the bus, and then never answers: a keyring whose prompt nobody sees.

Run as `python silent_service.py ADDRESS`; prints a line once it has the name, and stays until it is ended.
"""

from __future__ import annotations

import os
import sys

from jeepney.bus_messages import message_bus  # type: ignore[import-untyped]  # it has no types
from jeepney.io.blocking import Proxy, open_dbus_connection  # type: ignore[import-untyped]  # likewise

os.environ["DBUS_SESSION_BUS_ADDRESS"] = sys.argv[1]
connection = open_dbus_connection()
Proxy(message_bus, connection).RequestName("org.freedesktop.secrets")
sys.stdout.write("ready\n")
sys.stdout.flush()
while True:
    connection.receive()
