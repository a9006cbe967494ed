/** How a command ends, so that a typo never looks like a difference. */
export const exitStatus = {
  done: 0,
  /** With the reason on stderr, or in the report. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** A command that changes nothing found a difference, or something that would happen. */
  differs: 3,
} as const;
