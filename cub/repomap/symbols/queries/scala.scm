(class_definition name: (identifier) @name body: (_)? @body) @class
(object_definition name: (identifier) @name body: (_)? @body) @module
(package_object name: (identifier) @name body: (_)? @body) @module
(trait_definition name: (identifier) @name body: (_)? @body) @trait
(enum_definition name: (identifier) @name body: (_) @body) @enum
(function_definition name: (identifier) @name body: (_) @body) @function
(function_declaration name: (identifier) @name) @function
(val_definition pattern: (identifier) @name value: (_) @body) @variable
(var_definition pattern: (identifier) @name value: (_) @body) @variable
(val_declaration name: (identifier) @name) @variable
(var_declaration name: (identifier) @name) @variable
(type_definition name: (type_identifier) @name type: (_)? @value) @type
(given_definition name: (identifier) @name @until return_type: (_)? @until) @variable
(instance_expression (template_body) @local)
