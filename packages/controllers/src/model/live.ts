/**
 * A value that may be replaced while controllers run, such as settings that are reloaded. The value itself never changes: each reconcile reads the current one, and what is in
 * progress ends with the one that it began with.
 */
export interface Live<T> {
  current(): T;
}

/** A value that is never replaced. */
export const fixed = <T>(value: T): Live<T> => ({ current: () => value });
