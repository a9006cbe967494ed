import { ConfigError } from "@millwright/base";

/** An invalid command line that the flags alone do not show: the command ends with `exitStatus.usage`. */
export class UsageError extends ConfigError {
  readonly isUsage = true;
}

/** Whether an error is about the command line. */
export const isUsageError = (error: Error): boolean => "isUsage" in error && error.isUsage === true;
