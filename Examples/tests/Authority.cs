// mock-authority for tests in .NET, on the BCL alone: IClassFixture<Authority> in xUnit 2 and 3.
// The CI of this project has no .NET and does not compile this file. AUTHORITY_PROGRAM names mock-authority if it is not in PATH.
using System;
using System.Diagnostics;
using System.Linq;
using System.Net.Http;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;

public sealed class Authority : IDisposable
{
    private readonly Process process;
    private readonly HttpClient client = new();

    /// <summary>The first line of the program: addresses, issuers, users, clients.</summary>
    public JsonElement Ready { get; }

    public Authority(string issuer = "https://contoso.b2clogin.com")
    {
        var program = Environment.GetEnvironmentVariable("AUTHORITY_PROGRAM") ?? "mock-authority";
        var start = new ProcessStartInfo(program) { RedirectStandardInput = true, RedirectStandardOutput = true };
        foreach (var argument in new[] { "--listen", "127.0.0.1:0", "--print-ready", "--end-with-input", "--trusted-proxies", "127.0.0.0/8", "--issuer", issuer })
            start.ArgumentList.Add(argument);
        process = Process.Start(start)!;
        Ready = JsonDocument.Parse(process.StandardOutput.ReadLine()!).RootElement;
    }

    public string Address => Ready.GetProperty("address").GetString()!;

    /// <summary>A token; the query is that of the control, such as "bad=expired" or "exp=-1h".</summary>
    public Task<string> Token(string user = "alice", string query = "") =>
        client.GetStringAsync($"{Address}/_mock/token?user={Uri.EscapeDataString(user)}{(query == "" ? "" : "&")}{query}");

    public async Task<string> Control(string name, object body)
    {
        var answer = await client.PostAsync($"{Address}/_mock/{name}", new StringContent(JsonSerializer.Serialize(body)));
        return await answer.EnsureSuccessStatusCode().Content.ReadAsStringAsync();
    }

    /// <summary>Sends requests for Microsoft's hosts to the mock, which answers as for the host that was asked.</summary>
    public HttpMessageHandler Handler() => new ToMock(new Uri(Address));

    private sealed class ToMock(Uri mock) : DelegatingHandler(new SocketsHttpHandler())
    {
        private static readonly string[] hosts = [".b2clogin.com", ".ciamlogin.com", "login.microsoftonline.com"];

        protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellation)
        {
            var asked = request.RequestUri!;
            if (!hosts.Any(asked.Host.EndsWith)) return base.SendAsync(request, cancellation);
            request.Headers.TryAddWithoutValidation("Forwarded", $"proto=https;host={asked.Host}");
            request.RequestUri = new Uri(mock, asked.PathAndQuery);
            return base.SendAsync(request, cancellation);
        }
    }

    public void Dispose() => process.Kill();
}
