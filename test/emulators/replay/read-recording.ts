import * as z from "zod";

const headers = z.record(z.string(), z.string());

/** One line of a recording: a request of a driver and its response. */
const exchangeSchema = z.object({
  driver: z.string(),
  method: z.string(),
  url: z.string(),
  requestHeaders: headers.default({}),
  requestBody: z.string().default(""),
  status: z.number().optional(),
  responseHeaders: headers.default({}),
  responseBody: z.string().default(""),
  error: z.string().optional(),
});

/** A recorded exchange. */
export type RecordedExchange = z.infer<typeof exchangeSchema>;

const headSchema = z.object({ format: z.literal("millwright-cloud-recording/1") });

/**
 * Reads a recording of `millwright run --record-cloud`. Placeholders become values in the format of the cloud, equal for equal ones.
 *
 * @throws Error that names the line
 */
export function readRecording(text: string): readonly RecordedExchange[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.flatMap((line, index) => {
    try {
      if (index === 0) {
        headSchema.parse(JSON.parse(line));
        return [];
      }
      return [exchangeSchema.parse(JSON.parse(withValues(line)))];
    } catch (cause) {
      const expected = index === 0 ? "the head of a recording" : "a recorded exchange";
      throw new Error(`line ${index + 1} is not ${expected}`, { cause });
    }
  });
}

/** A value for each kind of placeholder. */
const values: Readonly<Record<string, (number: string) => string>> = {
  account: (number) => number.padStart(12, "0"),
  subscription: (number) => `00000000-0000-0000-0000-${number.padStart(12, "0")}`,
  tenant: (number) => `00000000-0000-0000-0001-${number.padStart(12, "0")}`,
  client: (number) => `00000000-0000-0000-0002-${number.padStart(12, "0")}`,
  project: (number) => `project-${number}`,
  "service-account": (number) => `account-${number}@project-1.iam.gserviceaccount.com`,
  email: (number) => `person-${number}@example.com`,
  "user-data": (number) => Buffer.from(`user data ${number}`).toString("base64"),
  secret: (number) => `ssh-rsa AAAA${number}`,
};

/** Placeholders may occur in URLs and forms, where their brackets are escaped, and in XML. */
const placeholder = /(?:<|%3C|&lt;)([a-z][a-z-]*)-(\d+)(?:>|%3E|&gt;)/g;

const withValues = (line: string): string =>
  line.replaceAll(placeholder, (_, kind: string, number: string) => values[kind]?.(number) ?? `${kind}-${number}`);
