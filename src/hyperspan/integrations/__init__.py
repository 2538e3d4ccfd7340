"""At home elsewhere: spaCy, Arrow and what runs on it, the model hub. Each is loaded only when it is asked for."""
