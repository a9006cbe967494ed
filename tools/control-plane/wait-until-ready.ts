import { get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { SupervisedProcess } from "./supervised-process.ts";

/** How long a program gets to become ready, milliseconds: a busy machine of two cores needs a tenth of it. */
const READY_LIMIT_MS = 120_000;

/** Resolves once a URL answers 200; rejects when the program behind it ends or takes too long. */
export async function waitUntilReady(
  process: SupervisedProcess,
  probe: () => Promise<boolean>,
  what: string,
  signal?: AbortSignal,
): Promise<void> {
  let end: string | undefined;
  void process.ended.then((how) => (end = how));
  const deadline = performance.now() + READY_LIMIT_MS;
  while (!(await probe().catch(() => false))) {
    signal?.throwIfAborted();
    if (end !== undefined) throw new Error(`${what}: ${end}`);
    if (performance.now() > deadline) throw new Error(`${what} was not ready after ${READY_LIMIT_MS / 1000} s`);
    await delay(100, undefined, { signal });
  }
}

/** Whether a GET answers 200. */
export function answersOk(
  url: string,
  options: { readonly ca?: string; readonly token?: string } = {},
): Promise<boolean> {
  const get = url.startsWith("https:") ? httpsGet : httpGet;
  const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  return new Promise((resolve, reject) => {
    const request = get(url, { ca: options.ca, headers, agent: false, timeout: 5000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once("timeout", () => request.destroy(new Error("no answer")));
    request.once("error", reject);
  });
}
