// The key lives in this closure only: neither in storage nor in a URL.
document.getElementById("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const key = document.getElementById("key").value.trim();
  const problem = document.getElementById("problem");
  const headers = { Authorization: `Bearer ${key}` };
  try {
    const answer = await fetch("openapi.json", { headers });
    if (!answer.ok) {
      problem.textContent = `The server answered ${answer.status}.`;
      return;
    }
    const ui = SwaggerUIBundle({
      spec: await answer.json(),
      dom_id: "#ui",
      deepLinking: false,
      persistAuthorization: false,
      validatorUrl: null,
    });
    ui.preauthorizeApiKey("BearerAuth", key);
    form.remove();
  } catch (error) {
    problem.textContent = "The server does not answer.";
  }
});
