// Fills in the account that the page offers, and sends nothing: the next press of Enter signs in.
const example = document.getElementById("example");
example.textContent = `Fill in ${example.dataset.email} and ${example.dataset.password}`;
example.hidden = false;
example.addEventListener("click", () => {
  document.getElementById("signInName").value = example.dataset.email;
  document.getElementById("password").value = example.dataset.password;
  document.getElementById("next").focus();
});
