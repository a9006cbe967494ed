import type { AnyAuthClient } from "google-auth-library";
import { type Clock, MachineError, orAborted } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import type { EgressFetch } from "./egress-fetch.ts";
import { NoAnswer, readFailure } from "./gce-failure.ts";

/** The library's own `fetch` trusts what Node does, and has other rules for proxies. The types are those of two versions of undici. */
const fetchWith =
  (fetch: EgressFetch): typeof globalThis.fetch =>
  (input, init) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const response: Promise<unknown> = fetch(new Request(input).url, init as never);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return response as Promise<Response>;
  };

/** The library's client, all of whose requests are sent by `fetch`. */
async function clientWith(scope: string, fetch: EgressFetch): Promise<AnyAuthClient> {
  const { GoogleAuth } = await import("google-auth-library");
  const clientOptions = { transporterOptions: { fetchImplementation: fetchWith(fetch) } };
  const client = await new GoogleAuth({ scopes: [scope], clientOptions }).getClient();
  // It does not pass the options on to its client of the token service of workload identities.
  const exchange: unknown = Reflect.get(client, "stsCredential");
  if (typeof exchange === "object" && exchange !== null) Object.assign(exchange, { transporter: client.transporter });
  return client;
}

/**
 * An access token by the file that `GOOGLE_APPLICATION_CREDENTIALS` names, of any type that Google's library reads, and the seconds that it is good for. The file is read each time: what is in it may change.
 *
 * @throws MachineError Unauthenticated when the file cannot be used; otherwise as `sendRequest`
 */
export async function tokenOfFile(
  scope: string,
  fetch: EgressFetch,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly value: unknown; readonly lifeS: unknown }> {
  const path = process.env["GOOGLE_APPLICATION_CREDENTIALS"] ?? "";
  const service = `the token service of GOOGLE_APPLICATION_CREDENTIALS (${path})`;
  const getToken = async () => {
    const client = await clientWith(scope, fetch);
    const { token } = await client.getAccessToken();
    return { token, expiryDate: client.credentials.expiry_date };
  };
  try {
    const { token, expiryDate } = await orAborted(signal, getToken());
    const lifeS = typeof expiryDate === "number" ? (expiryDate - clock.now().getTime()) / 1_000 : undefined;
    return { value: token, lifeS };
  } catch (error) {
    if (signal.aborted) throw error;
    const response = fieldOf(error, "response");
    const status = fieldOf(response, "status");
    if (typeof status === "number") {
      const failure = readFailure(status, new Headers(), JSON.stringify(fieldOf(response, "data") ?? ""));
      failure.service = service;
      throw failure;
    }
    // A request that got no answer has its settings, and the error of `fetch`.
    if (fieldOf(error, "config") !== undefined) throw new NoAnswer(service, fieldOf(error, "cause") ?? error);
    // The message of a parser would repeat a part of the file.
    const code = fieldOf(error, "code");
    const why = typeof code === "string" ? ` (${code})` : "";
    throw new MachineError(
      "Unauthenticated",
      `the file of GOOGLE_APPLICATION_CREDENTIALS, ${path}, cannot be read, or is none of credentials${why}`,
      { cause: error },
    );
  }
}
