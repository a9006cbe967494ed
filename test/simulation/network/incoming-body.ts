import type { ConnectionResponse } from "@millwright/kube";

/** The client's side of a body: chunks as they arrive. */
export interface IncomingBody {
  readonly body: ConnectionResponse["body"];
  add(chunk: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

/**
 * Makes an empty {@link IncomingBody}.
 *
 * @param destroy called when its reader wants no more of it
 */
export function createIncomingBody(destroy: () => void): IncomingBody {
  const chunks: Buffer[] = [];
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let resume = (): void => {};

  async function* read(): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (failure !== undefined) throw failure.error;
      else if (isOver) return;
      else await new Promise<void>((resolve) => (resume = resolve));
    }
  }
  const readAll = async (): Promise<Buffer> => {
    const all: Buffer[] = [];
    for await (const chunk of read()) all.push(chunk);
    return Buffer.concat(all);
  };
  return {
    body: {
      [Symbol.asyncIterator]: read,
      arrayBuffer: async () => {
        const all = await readAll();
        const copy = new ArrayBuffer(all.length);
        new Uint8Array(copy).set(all);
        return copy;
      },
      text: async () => (await readAll()).toString("utf8"),
      destroy,
    },
    add(chunk) {
      chunks.push(chunk);
      resume();
    },
    end() {
      isOver = true;
      resume();
    },
    fail(error) {
      failure = { error };
      resume();
    },
  };
}
