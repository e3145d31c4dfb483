"""The canonical profile: one address, one model, one key reference, and the limits that tools are to keep.

Its file is read by `toolsync.profile.reader` and changed by `toolsync.profile.editor`; both stay out of the way of
`key print`, which needs neither.
"""

from toolsync.keyref import NAME, KeyRef
from toolsync.profile.model import Plaintext, Profile, Profiles, for_tool

__all__ = ["NAME", "KeyRef", "Plaintext", "Profile", "Profiles", "for_tool"]
