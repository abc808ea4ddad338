"""Whole investigations with the answers of a capable model, recorded once and played again without it.

The model was played by a reader who saw nothing but the prompts. A prompt that is not in the recording makes it stale;
it is then recorded anew, never passed over."""
