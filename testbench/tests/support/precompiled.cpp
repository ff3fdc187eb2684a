// Nothing of its own: the source that the tests' shared precompiled header is made with.
