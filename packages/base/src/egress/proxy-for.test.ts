import { expect, test } from "vitest";
import { proxyFor } from "./proxy-for.ts";

const proxy = "http://proxy.example:3128";

/** Whether a URL is requested through the proxy when `NO_PROXY` reads so. */
const isProxied = (url: string, noProxy = ""): boolean =>
  proxyFor(new URL(url), { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: noProxy }) !== undefined;

// Cases of golang.org/x/net/http/httpproxy, `TestUseProxy` and `TestProxyForURL`, and of the documentation of its type Config.
test.each<readonly [host: string, noProxy: string, isProxied: boolean]>([
  ["example.com", "", true],
  ["localhost", "", false],
  ["localhost:8080", "", false],
  ["127.0.0.1", "", false],
  ["127.0.0.2", "", false],
  ["[::1]", "", false],
  ["[::2]", "", true],
  ["192.168.1.1", "", true],
  ["other.localhost", "", true],

  ["anything.example", "*", false],
  ["192.168.1.1", "*", false],
  ["anything.example", "foo.com, * ,bar.com", false],

  ["foo.com", "foo.com", false],
  ["www.foo.com", "foo.com", false],
  ["foofoo.com", "foo.com", true],
  ["foo.com.evil.example", "foo.com", true],
  ["foo.com", ".foo.com", true],
  ["www.foo.com", ".foo.com", false],
  ["www.foo.com", "*.foo.com", false],
  ["foo.com", "*.foo.com", true],
  ["FOO.com", " fOo.COM ", false],
  ["foo.com", "bar.com,,foo.com,", false],
  ["foo.com", "bar.com foo.com", true],
  ["example.com", ":443", true],

  ["foo.com", "foo.com:443", false],
  ["foo.com:8080", "foo.com:443", true],
  ["www.foo.com:8080", ".foo.com:8080", false],
  ["foo.com", "foo.com:8080", true],

  ["192.168.1.1", "192.168.1.1", false],
  ["192.168.1.2", "192.168.1.1", true],
  ["192.168.1.1:8443", "192.168.1.1:8443", false],
  ["192.168.1.1", "192.168.1.1:8443", true],
  ["192.168.1.77", "192.168.1.0/24", false],
  ["192.168.2.77", "192.168.1.0/24", true],
  ["192.168.1.77:6443", "192.168.1.1/24", false],
  ["10.0.0.1", "10.0.0.0/33", true],
  ["name.example", "0.0.0.0/0", true],

  ["[2001:db8::52]", "2001:db8::52", false],
  ["[2001:db8:0:0::52]", "2001:0db8::0052", false],
  ["[2001:db8::52]:443", "[2001:db8::52]:443", false],
  ["[2001:db8::52]:6443", "[2001:db8::52]:443", true],
  ["[2001:db8::53]", "2001:db8::/48", false],
  ["[2002:db8:a::53]", "2001:db8::/48", true],
  ["[2001:db8::52]", "[2001:db8::52]", true],
])("requests https://%s as Go does when NO_PROXY is %j", (host, noProxy, expected) => {
  expect(isProxied(`https://${host}/`, noProxy)).toBe(expected);
});

test.each([
  "http://169.254.169.254/latest/meta-data",
  "http://metadata.google.internal/computeMetadata/v1",
  "http://[fd00:ec2::254]/latest/meta-data",
  "http://[fe80::1]/",
])("never requests %s through a proxy", (url) => {
  expect(isProxied(url)).toBe(false);
});

test.each<readonly [what: string, url: string, env: Record<string, string>, expected: string | undefined]>([
  ["takes HTTPS_PROXY for https alone", "https://a.b", { HTTPS_PROXY: "http://p:1" }, "http://p:1/"],
  ["takes HTTPS_PROXY for https alone", "http://a.b", { HTTPS_PROXY: "http://p:1" }, undefined],
  ["takes HTTP_PROXY for http alone", "http://a.b", { HTTP_PROXY: "http://p:1" }, "http://p:1/"],
  ["takes HTTP_PROXY for http alone", "https://a.b", { HTTP_PROXY: "http://p:1" }, undefined],
  ["reads lower case", "https://a.b", { https_proxy: "http://p:1" }, "http://p:1/"],
  ["prefers upper case", "https://a.b", { https_proxy: "http://q:1", HTTPS_PROXY: "http://p:1" }, "http://p:1/"],
  ["takes an empty variable for none", "https://a.b", { https_proxy: "http://p:1", HTTPS_PROXY: "" }, "http://p:1/"],
  ["reads no_proxy in lower case", "https://a.b", { HTTPS_PROXY: "http://p:1", no_proxy: "a.b" }, undefined],
  [
    "takes a proxy without a scheme for http",
    "https://a.b",
    { HTTPS_PROXY: "p.example:3128" },
    "http://p.example:3128/",
  ],
  [
    "takes a proxy without a scheme for http",
    "https://a.b",
    { HTTPS_PROXY: "localhost:8080" },
    "http://localhost:8080/",
  ],
  ["takes https proxies", "https://a.b", { HTTPS_PROXY: "https://p" }, "https://p/"],
  ["takes SOCKS 5 proxies", "https://a.b", { HTTPS_PROXY: "socks5://p:1080" }, "socks5://p:1080"],
  ["keeps user and password", "https://a.b", { HTTPS_PROXY: "http://me:s%40cret@p:1" }, "http://me:s%40cret@p:1/"],
  ["has no proxy for other protocols", "ftp://a.b", { HTTPS_PROXY: "http://p:1", HTTP_PROXY: "http://p:1" }, undefined],
])("%s: %s with %j", (_, url, env, expected) => {
  expect(proxyFor(new URL(url), env)?.href).toBe(expected);
});

test("rejects an invalid proxy URL instead of connecting directly, and does not print it", () => {
  for (const text of ["ftp://me:password@proxy:21", "http://", "http://me:password@proxy:notaport"]) {
    const read = () => proxyFor(new URL("https://a.b"), { HTTPS_PROXY: text });
    expect(read).toThrow("HTTPS_PROXY is not the URL of a proxy; expected http://host:port");
    expect(read).not.toThrow("password");
  }
});
