/** User agent of the floor's requests. */
export const floorAgent = "bench-floor";
