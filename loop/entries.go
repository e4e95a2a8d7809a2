package loop

// --- House ---

// --- People (SPEC 6.6) ---

// --- The digest (SPEC 6.5) ---

// --- Run ---

// --- Tasks ---

// --- The chain of one attempt (SPEC 8.1) ---

// --- Sessions ---

// --- Guidance ---

// --- Questions ---

// --- Memory ---

// --- Trouble ---
