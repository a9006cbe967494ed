import * as z from "zod";

const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Whether a text is the address of a cloud server: http, on this machine, without user, path or query. */
export function isCloudEndpoint(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    url.protocol === "http:" &&
    loopbackHosts.has(url.hostname) &&
    url.username === "" &&
    url.password === "" &&
    url.pathname === "/" &&
    url.search === "" &&
    url.hash === ""
  );
}

/** What {@link isCloudEndpoint} expects, for messages. */
export const endpointRule = "must be an http URL on 127.0.0.1, localhost or [::1], such as http://127.0.0.1:7070";

/** Schema of the class secret, when the driver talks to a cloud server. Other keys, such as `userData`, are kept. */
export const mockSecretSchema = z.object({
  endpoint: z.string({ error: endpointRule }).refine((text) => isCloudEndpoint(text.trim()), endpointRule),
  token: z.string().min(1).optional(),
});
