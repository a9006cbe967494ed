/** Ten minutes after everything was created. */
export const testNow = new Date("2026-01-01T00:10:00Z");

/** A time so many milliseconds after {@link testNow}. */
export const later = (ms: number): Date => new Date(testNow.getTime() + ms);
