/** Parts that differ between attempts although the failure is the same: request ids, times. */
const fleeting =
  /[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}|\b[\da-fA-F]{16,}\b|\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d[.\dZz]*/g;

/** Without what differs; a full stop at the end may be that of the sentence around a message. */
const lasting = (message: string): string => message.replace(fleeting, "#").replace(/\.$/, "");

/** Whether two messages describe the same failure. */
export const isSameFailure = (a: string, b: string): boolean => lasting(a) === lasting(b);
