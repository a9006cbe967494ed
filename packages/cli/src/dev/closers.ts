/** Things to close, the latest first, each exactly once. */
export interface Closers {
  add(close: () => Promise<void> | void): void;
  /** Closes everything, also when one of them fails; throws the first error. */
  closeAll(): Promise<void>;
}

export function createClosers(): Closers {
  const stack: (() => Promise<void> | void)[] = [];
  return {
    add: (close) => void stack.push(close),
    async closeAll() {
      const failures: unknown[] = [];
      for (let close = stack.pop(); close !== undefined; close = stack.pop()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
