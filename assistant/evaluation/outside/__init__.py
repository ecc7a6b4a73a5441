"""Sets of questions that others have made, put to any model: function-calling cases and questions over databases."""
